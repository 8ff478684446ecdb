"""What bench/speed, bench/guard, bench/scaling and bench/exec share."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))  # command_line
