//===- OutputFiles.cpp - All files or none --------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::rt {

static Error cannotWrite(StringRef path, const Twine &why) {
  return createStringError("cannot write '" + path + "': " + why);
}

OutputFiles::~OutputFiles() {
  for (Entry &entry : entries)
    if (entry.temporary)
      consumeError(entry.temporary->discard());
}

Error OutputFiles::add(StringRef path,
                       function_ref<void(raw_ostream &)> write) {
  Entry entry;
  entry.path = path.str();
  // A rename would replace a link, not the file it points to.
  SmallString<128> resolved;
  if (sys::fs::real_path(path, resolved))
    resolved = path;
  entry.target = resolved.str().str();
  if (any_of(entries, [&](const Entry &e) { return e.target == entry.target; }))
    return cannotWrite(path, "it was already given for another output");

  sys::fs::file_status status;
  std::error_code statusError = sys::fs::status(entry.target, status);
  if (!statusError && status.type() == sys::fs::file_type::directory_file)
    return cannotWrite(path, "Is a directory");
  if (!statusError && status.type() != sys::fs::file_type::regular_file) {
    raw_string_ostream os(entry.direct);
    write(os);
    entries.push_back(std::move(entry));
    return Error::success();
  }

  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(entry.target + ".%%%%%%%%.tmp");
  if (!temporary)
    return cannotWrite(path, toString(temporary.takeError()));
  {
    raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    write(os);
    os.flush();
    if (std::error_code ec = os.error()) {
      os.clear_error();
      consumeError(temporary->discard());
      return cannotWrite(path, ec.message());
    }
  }
  entry.temporary = std::move(*temporary);
  entries.push_back(std::move(entry));
  return Error::success();
}

Error OutputFiles::commit() {
  std::string failure;
  size_t done = 0;
  for (; done < entries.size() && failure.empty(); ++done) {
    Entry &entry = entries[done];
    if (entry.temporary) {
      Error error = entry.temporary->keep(entry.target);
      entry.temporary.reset();
      if (error)
        failure = toString(std::move(error));
      continue;
    }
    std::error_code ec;
    raw_fd_ostream os(entry.target, ec, sys::fs::CD_OpenExisting);
    if (!ec) {
      os << entry.direct;
      os.close();
      ec = os.error();
      os.clear_error();
    }
    if (ec)
      failure = ec.message();
  }
  if (failure.empty()) {
    entries.clear();
    return Error::success();
  }
  Error error = cannotWrite(entries[done - 1].path, failure);
  for (Entry &entry : MutableArrayRef(entries).take_front(done - 1))
    if (entry.direct.empty())
      sys::fs::remove(entry.target);
  entries.erase(entries.begin(), entries.begin() + done);
  return error;
}

} // namespace attn::rt
