package io.millrace.store.kernel.records;

import java.util.ArrayList;
import java.util.List;

/**
 * The current history of a store with its ancestors.
 *
 * @param branches the histories, oldest first, at least one; the last is the current one
 */
public record History(List<Branch> branches) {
  /**
   * One history.
   *
   * @param id a random number
   * @param after the number of the last commit that it shares with its parent; 0 for the first
   */
  public record Branch(long id, long after) {}

  public History {
    branches = List.copyOf(branches);
  }

  /** The history of a new store. */
  public static History begin(long id) {
    return new History(List.of(new Branch(id, 0)));
  }

  /** The id of the current history. */
  public long id() {
    return branches.getLast().id();
  }

  /** The same with a new current history that branches off after commit {@code number}. */
  public History fork(long id, long number) {
    List<Branch> longer = new ArrayList<>(branches);
    longer.add(new Branch(id, number));
    return new History(longer);
  }

  /** Whether commit {@code number} of history {@code id} is part of the current history. */
  public boolean includes(long id, long number) {
    long end = Long.MAX_VALUE;
    for (Branch branch : branches.reversed()) {
      if (branch.id() == id) {
        return number <= end;
      }
      end = Math.min(end, branch.after());
    }
    return false;
  }
}
