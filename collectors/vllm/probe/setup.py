"""The compiled part. Where it cannot be built the probe does without: usual.py is the same in Python."""
from setuptools import Extension, setup

setup(ext_modules=[Extension("tokenstair_probe._usual", ["tokenstair_probe/_usual.c"], optional=True)])
