package io.millrace.store.kernel.records;

import java.util.ArrayList;
import java.util.List;

/**
 * The histories that lead to a store's present one, oldest first, with the number of the last
 * commit before each began.
 *
 * @param branches at least one; the last is the present one
 */
public record History(List<Branch> branches) {
  /**
   * One history.
   *
   * @param id a random number
   * @param after the number of the last commit of its parent that belongs to it too; 0 for the
   *     first
   */
  public record Branch(long id, long after) {}

  public History {
    branches = List.copyOf(branches);
  }

  /** The history of a new store. */
  public static History begin(long id) {
    return new History(List.of(new Branch(id, 0)));
  }

  /** The number of the present history. */
  public long id() {
    return branches.getLast().id();
  }

  /** The same with a new history that leaves the present one after commit {@code number}. */
  public History fork(long id, long number) {
    List<Branch> longer = new ArrayList<>(branches);
    longer.add(new Branch(id, number));
    return new History(longer);
  }

  /** Whether commit {@code number} of history {@code id} is part of the present one's past. */
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
