"""What a framework needs around a call.  Each module here imports its framework; nothing else in amfgate does."""
