"""Ring attention: a long sequence over several processes, one shard each.

    python examples/ring_attention.py                      # 4 processes on this machine
    torchrun --nproc-per-node=8 examples/ring_attention.py # one process a GPU (RCCL)

Every process keeps its rows of Q. The shards of K and V travel around the ring, and each
process attends to the one it holds while the next one is on its way. What a shard gives is
a partial state (O, LSE); `merge_states` combines the states. Offsets tell `attention` where
rows and keys stand in the whole sequence, so that causal masking is that of the whole.

With causal masking early rows see few keys. The placement "contiguous" gives the last
process most of the work; "zigzag" cuts the sequence into two chunks a process and gives
process r the chunks r and 2 W - 1 - r, which makes the work equal.
"""

import argparse
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist

import attn_mlir

PLACEMENTS = ("contiguous", "zigzag")


def chunks_of(rank, world, length, placement):
    """The (begin, end) of the parts of the sequence that a process holds, in order."""
    parts = 2 * world if placement == "zigzag" else world
    if length % parts:
        raise ValueError(f"length: expects a multiple of {parts}, got {length}")
    size = length // parts
    numbers = (rank, parts - 1 - rank) if placement == "zigzag" else (rank,)
    return [(n * size, (n + 1) * size) for n in numbers]


def shard(x, rank, world, placement):
    """The rows [B, H, S / W, D] that a process holds of x [B, H, S, D]."""
    chunks = chunks_of(rank, world, x.shape[2], placement)
    return torch.cat([x[:, :, begin:end] for begin, end in chunks], dim=2)


def unshard(shards, placement):
    """The whole of what the processes hold; the sequence is dimension 2."""
    length = sum(x.shape[2] for x in shards)
    pieces = {}
    for rank, x in enumerate(shards):
        chunks = chunks_of(rank, len(shards), length, placement)
        for (begin, _), piece in zip(chunks, x.chunk(len(chunks), dim=2)):
            pieces[begin] = piece
    return torch.cat([pieces[begin] for begin in sorted(pieces)], dim=2)


def ring_attention(q, k, v, *, placement="zigzag", causal=True, scale=None, on_step=None):
    """Attention of this process's rows to the keys of all processes.

    q, k, v: [B, Hq, S / W, D], [B, Hk, S / W, D], [B, Hv, S / W, Dv], as `shard` makes them.
    on_step(step, source, blocks) is called after each step with the process whose keys it
    took and how many blocks of rows and keys it computed.
    Returns (O, LSE) of the rows, O in the type of q, LSE of base e.
    """
    rank, world = dist.get_rank(), dist.get_world_size()
    length = q.shape[2] * world
    own = chunks_of(rank, world, length, placement)
    rows = q.chunk(len(own), dim=2)
    # A row that no shard shows a key keeps the neutral element.
    states = [
        (x.new_zeros((*x.shape[:3], v.shape[-1]), dtype=torch.float32),
         x.new_full(x.shape[:3], -torch.inf, dtype=torch.float32))
        for x in rows
    ]
    held = [k.contiguous(), v.contiguous()]
    for step in range(world):
        source = (rank - step) % world
        coming, requests = [torch.empty_like(x) for x in held], []
        if step + 1 < world:
            operations = [dist.P2POp(dist.isend, x, (rank + 1) % world) for x in held]
            operations += [dist.P2POp(dist.irecv, x, (rank - 1) % world) for x in coming]
            requests = dist.batch_isend_irecv(operations)
        blocks = 0
        chunks = chunks_of(source, world, length, placement)
        keys, values = (x.chunk(len(chunks), dim=2) for x in held)
        for i, (q_begin, q_end) in enumerate(own):
            for j, (kv_begin, _) in enumerate(chunks):
                if causal and kv_begin >= q_end:
                    continue  # all of it lies in the future
                out, lse = attn_mlir.attention(
                    rows[i], keys[j], values[j],
                    causal=causal, q_offset=q_begin, kv_offset=kv_begin, scale=scale,
                    return_lse=True,
                )
                # In f32, so that O is rounded to its type once.
                states[i] = attn_mlir.merge_states([states[i], (out.float(), lse)])
                blocks += 1
        for request in requests:
            request.wait()
        held = coming
        if on_step:
            on_step(step, source, blocks)
    out = torch.cat([out for out, _ in states], dim=2).to(q.dtype)
    return out, torch.cat([lse for _, lse in states], dim=2)


def gather(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return parts


def run(args, placement, device):
    """One ring attention with progress; True if it equals attention in one process."""
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)  # the same sequence in every process, which keeps its shard
    heads = (args.heads, args.kv_heads, args.kv_heads)
    dtype = getattr(torch, args.dtype)
    whole = [torch.randn(1, h, args.length, args.head_dim).to(device, dtype) for h in heads]
    q, k, v = (shard(x, rank, world, placement) for x in whole)
    start, computed = time.monotonic(), torch.zeros(1)

    def show(step, source, blocks):
        computed.add_(blocks)
        if rank == 0:
            seconds = time.monotonic() - start
            print(f"  step {step + 1} of {world}: keys of process {source}, "
                  f"{blocks} block(s), {seconds:.2f} s", flush=True)

    if rank == 0:
        kind = "causal" if args.causal else "full"
        print(f"{placement}, {kind}: {args.length} rows on {world} processes", flush=True)
    out, lse = ring_attention(q, k, v, placement=placement, causal=args.causal, on_step=show)
    out, lse = unshard(gather(out), placement), unshard(gather(lse), placement)
    blocks_of = [int(x) for x in gather(computed.to(device))]
    if rank != 0:
        return True
    expected, expected_lse = attn_mlir.attention(*whole, causal=args.causal, return_lse=True)
    o_error = (out.float() - expected.float()).abs().max().item()
    lse_error = (lse - expected_lse).abs().max().item()
    # Rounding of O and of the weights to the type, and of an f32 LSE.
    bound = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    good = o_error <= bound and lse_error <= 1e-4
    print(f"  blocks of each process: {blocks_of}", flush=True)
    print(f"  against one process: O differs by {o_error:.1e}, LSE by {lse_error:.1e}: "
          f"{'equal' if good else 'WRONG'}", flush=True)
    return good


def run_process(rank, args, world, store):
    """One process."""
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank % torch.cuda.device_count()) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    where = {"init_method": f"file://{store}"} if store else {}
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=world, **where)
    try:
        good = all([run(args, placement, device) for placement in args.placement])
    finally:
        dist.destroy_process_group()
    if not good:
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=4, help="without torchrun (default 4)")
    parser.add_argument("--placement", nargs="+", choices=PLACEMENTS, default=PLACEMENTS)
    parser.add_argument("--length", type=int, default=1024, help="rows of the whole sequence")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    parser.add_argument("--full", dest="causal", action="store_false", help="without causal mask")
    args = parser.parse_args()
    world = int(os.environ.get("WORLD_SIZE", args.processes))
    if world < 1:
        parser.error(f"--processes: expects a number from 1, got {world}")
    parts = 2 * world if "zigzag" in args.placement else world
    if args.length < 1 or args.length % parts:
        parser.error(f"--length: expects a multiple of {parts} from {parts}, got {args.length}")
    if args.kv_heads < 1 or args.heads < 1 or args.heads % args.kv_heads:
        parser.error(f"--heads: expects a multiple of --kv-heads, {args.kv_heads}, got {args.heads}")
    if "RANK" in os.environ:  # started by torchrun
        run_process(int(os.environ["RANK"]), args, int(os.environ["WORLD_SIZE"]), None)
        return
    # One machine: gloo needs no interface but this.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(
            run_process, (args, args.processes, f"{folder}/store"), nprocs=args.processes
        )


if __name__ == "__main__":
    main()
