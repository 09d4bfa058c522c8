"""What libraries of others read of strangers' files, in a process of its own: a file that ends it ends nothing else.

`box` has that process and asks it; each other module reads one kind of file there, and needs little to be imported.
"""
