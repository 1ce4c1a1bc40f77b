"""The comparison with other tools in public: the same work for everybody, every run kept, one page made from them."""
