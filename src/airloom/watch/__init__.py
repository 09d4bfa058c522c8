"""What looks after a run: silent commanders, states beyond sense, flights that go badly, the verdict."""
