from hypothesis import settings

settings.register_profile("demur", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("demur")
