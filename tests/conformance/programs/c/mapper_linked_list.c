// covers: a linked list whose nodes are mapped one by one and attached, and a mapper for its head
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
  int value;
  struct node *next;
} node;

typedef struct {
  int length;
  int *lengths;
} summary;
#pragma omp declare mapper(summary s) map(s.length) map(s.lengths[0 : s.length])

int main(void) {
  node *head = NULL;
  for (int i = 5; i >= 1; i--) {
    node *n = malloc(sizeof *n);
    n->value = i * i;
    n->next = head;
    head = n;
  }
  // From the tail to the head: each next pointer is attached to a node that is there already.
  node *order[5];
  int count = 0;
  for (node *n = head; n; n = n->next) order[count++] = n;
  for (int i = count - 1; i >= 0; i--) {
    node *n = order[i];
    // The pointer is attached because its node is new, though what it points to is not.
    if (n->next) {
#pragma omp target enter data map(to : n[0 : 1]) map(alloc : n->next[0 : 1])
    } else {
#pragma omp target enter data map(to : n[0 : 1])
    }
  }
  int lengths[5] = {0};
  summary s = {5, lengths};
#pragma omp target map(tofrom : s)
  {
    int i = 0;
    for (node *n = head; n && i < s.length; n = n->next) {
      s.lengths[i++] = n->value;
      n->value = -n->value;
    }
  }
  for (int i = 0; i < 5; i++) printf("%d ", lengths[i]);
  printf("\n");
  for (int i = 0; i < count; i++) {
    node *n = order[i];
#pragma omp target update from(n->value)
    printf("%d ", n->value);
#pragma omp target exit data map(delete : n[0 : 1])
    free(n);
  }
  printf("\n");
  return 0;
}
