// as without OpenACC
// Brackets by their other names, in directives and around them.
%:include <stdio.h>

int main(void) <%
  int sum = 0, list<:10:> = <%0%>;
  const char *text = "<:%>";
%:pragma acc parallel loop reduction(+ : sum) copy(list<:0 : 10:>)
  for (int i = 0; i < 10; i++) <%
    sum += i;
    list<:i:> = i;
  %>
%:pragma acc kernels
  <%
    for (int i = 0; i < 10; i++) list<:i:> += 1;
    for (int i = 1; i < 10; i++) list<:i:> += list<:i - 1:>;
  %>
  printf("%d %d %s\n", sum, list<:9:>, text);
  return 0;
%>
