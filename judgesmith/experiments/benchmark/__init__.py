"""Benchmarks built from rated data by putting errors into good texts."""
