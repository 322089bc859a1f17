"""Makes and shows .npy files for the tests of the tools.

    npy.py write FILE 'EXPRESSION'     np and inf are there to use
    npy.py show FILE...                one line a file: type, shape, values
    npy.py row FILE...                 same, only query rows of the last head
"""

import sys

import numpy as np


def main():
    command, *arguments = sys.argv[1:]
    if command == "write":
        path, expression = arguments
        np.save(path, eval(expression, {"np": np, "inf": np.inf}))
    elif command in ("show", "row"):
        for path in arguments:
            array = np.load(path)
            values = array if command == "show" else array[0, -1]
            if command == "row" and values.ndim == 2:
                assert (values == values[:, :1]).all(), "columns differ"
                values = values[:, 0]
            print(path.rsplit("/")[-1], array.dtype.str, array.shape, values.tolist())
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main()
