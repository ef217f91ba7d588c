"""The families of judges, one file each, and judges that hold judges."""
