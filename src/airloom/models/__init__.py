"""Models of others: SDF, URDF, xacro and MJCF become vehicle and world files, and vehicles become theirs."""
