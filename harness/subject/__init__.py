"""What is under test: loaders, layers, ICDs; what their files say, how they are found and started."""
