package io.millrace.cluster.remote;

/** Gives lambdas their backlogs. */
public final class Backlogs {
  private Backlogs() {}

  /**
   * A backlog in which a lambda commits and adds items. It can be serialized: the member that uses
   * it finds it by {@code Member.current()}.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  public static Backlog named(String name) {
    return new NamedBacklog(name);
  }
}
