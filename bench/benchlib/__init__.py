"""What bench/speed, bench/guard and bench/scaling share."""
