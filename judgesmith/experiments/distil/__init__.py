"""What a judge says of many texts becomes data that a small model learns from."""
