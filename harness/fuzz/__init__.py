"""What `clharness fuzz` does outside of the fuzz targets themselves."""
