package io.millrace.cluster.remote;

/** Finds backlogs where a member works. */
public final class Backlogs {
  private Backlogs() {}

  /**
   * A backlog as a lambda needs it, to commit items and add some. It belongs to whichever member
   * uses it, found by {@code Member.current()}, so it may be serialized.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  public static Backlog named(String name) {
    return new NamedBacklog(name);
  }
}
