"""Features: folders of what adds to an evaluation."""
