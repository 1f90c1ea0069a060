# scdoc ends an indented block with an empty paragraph and opens a section with one; mandoc's lint objects to both.
/^\.P$/{
N
s/^\.P\n\.RE$/.RE/
s/^\.P\n\.SH/.SH/
s/^\.P\n\.SS/.SS/
}
