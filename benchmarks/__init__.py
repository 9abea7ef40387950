"""Every figure ptp promises, measured against the bare thing in the same run."""
