package io.millrace.work;

import java.util.ArrayList;
import java.util.List;

/**
 * Why a piece of work has not started yet, as far as the store and the server know at one moment.
 *
 * @param kind what it is: {@code task}, {@code job} or {@code node}
 * @param id its id, or the key of a job
 * @param status its status
 * @param waiting whether it waits; false if it runs or has ended
 * @param reasons what keeps it from starting, the most decisive one first. At least one: work that
 *     does not wait has one that says so, and so has work that only waits for its turn
 */
public record Explanation(
    String kind, String id, String status, boolean waiting, List<Reason> reasons) {
  /** Copies the list. */
  public Explanation {
    reasons = List.copyOf(reasons);
  }

  /** The same for work that was handed on as other work, which waits. */
  public Explanation handedOn(Explanation as) {
    Related other = new Related(as.kind, List.of(as.id), 0);
    List<Reason> all = new ArrayList<>();
    all.add(
        new Reason("handed_on", "it runs as %s %s, which waits".formatted(as.kind, as.id), other));
    all.addAll(as.reasons);
    return new Explanation(kind, id, status, true, all);
  }

  /**
   * One reason.
   *
   * @param code the kind of reason, for programs, such as {@code scheduled}
   * @param message the reason, for people
   * @param related what is behind it, for example the tasks that use up a limit
   */
  public record Reason(String code, String message, Related related) {
    /** A reason with nothing else behind it. */
    public static Reason of(String code, String message) {
      return new Reason(code, message, Related.NONE);
    }
  }

  /**
   * Other work, workers or execution nodes that are behind a reason.
   *
   * @param kind what they are: {@code task}, {@code job}, {@code node}, {@code worker} or {@code
   *     execution node}; empty if there are none
   * @param ids some of them, at most {@value #MAX_IDS}
   * @param more how many others there are: those beyond {@value #MAX_IDS}, and those that the
   *     caller may not see
   */
  public record Related(String kind, List<String> ids, long more) {
    /** How many ids are named at most. */
    public static final int MAX_IDS = 20;

    /** Nothing. */
    public static final Related NONE = new Related("", List.of(), 0);

    /** Copies the list. */
    public Related {
      ids = List.copyOf(ids);
    }

    /**
     * Names the first ids.
     *
     * @param visible those that the caller may see
     * @param total how many there are, with those that the caller may not see
     */
    public static Related of(String kind, List<String> visible, long total) {
      List<String> named = visible.subList(0, Math.min(visible.size(), MAX_IDS));
      return new Related(kind, named, Math.max(0, total - named.size()));
    }

    /** Names the first of these ids, all of which the caller may see. */
    public static Related of(String kind, List<String> ids) {
      return of(kind, ids, ids.size());
    }
  }
}
