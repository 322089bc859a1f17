"""Makes and shows .npy files for the tests of the tools.

    npy.py write FILE 'EXPRESSION'     np and inf are there to use
    npy.py show FILE...                one line a file: type, shape, values
"""

import sys

import numpy as np


def main():
    command, *arguments = sys.argv[1:]
    if command == "write":
        path, expression = arguments
        np.save(path, eval(expression, {"np": np, "inf": np.inf}))
    elif command == "show":
        for path in arguments:
            array = np.load(path)
            print(path.rsplit("/")[-1], array.dtype.str, array.shape, array.tolist())
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main()
