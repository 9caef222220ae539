"""Archives of earlier versions, each in a folder of its version, which every later version must import."""
