package io.millrace.cli.storm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The messages on one connection of a worker that determine what happened to its results. */
final class Transcript {
  /** What happened to a result, as far as its worker can know. */
  enum ResultFate {
    /** The server must have taken it: it went on without a word against it. */
    ACCEPTED,
    /** The server has said that it does not count. */
    REFUSED,
    /** The connection was over too soon. */
    UNKNOWN
  }

  private sealed interface Entry {
    /** The worker sends a result of a job; {@code attempt} is in the result. */
    record Result(String key, long attempt) implements Entry {}

    /** The server rejects a message of the worker about a job. */
    record Refusal(String id) implements Entry {}

    /** The server sends another job. */
    record Given() implements Entry {}
  }

  /** After so many further jobs a refusal would have come: those before may have crossed it. */
  private final int enough;

  private final List<Entry> said = new ArrayList<>();

  /** Of a worker that takes so many jobs at a time. */
  Transcript(int capacity) {
    this.enough = 2 * capacity;
  }

  /** A result is about to be sent. */
  synchronized void result(String key, long attempt) {
    said.add(new Entry.Result(key, attempt));
  }

  synchronized void refused(String id) {
    said.add(new Entry.Refusal(id));
  }

  synchronized void given() {
    said.add(new Entry.Given());
  }

  /** A result that is being sent. */
  private static final class Open {
    final Entry.Result result;
    int givenAfter;

    Open(Entry.Result result) {
      this.result = result;
    }
  }

  /**
   * What became of each attempt.
   *
   * @param keys the jobs' keys by their ids
   */
  synchronized Map<Long, ResultFate> fates(Map<String, String> keys) {
    Map<Long, ResultFate> fates = new HashMap<>();
    List<Open> open = new ArrayList<>();
    for (Entry next : said) {
      switch (next) {
        case Entry.Result result -> {
          fates.put(result.attempt(), ResultFate.UNKNOWN);
          open.add(new Open(result));
        }
        case Entry.Refusal(String id) ->
            open.stream()
                .filter(each -> each.result.key().equals(keys.get(id)))
                .findFirst()
                .ifPresent(each -> {
                  fates.put(each.result.attempt(), ResultFate.REFUSED);
                  open.remove(each);
                });
        case Entry.Given() -> {
          open.forEach(each -> each.givenAfter++);
          open.stream()
              .filter(each -> each.givenAfter == enough)
              .forEach(each -> fates.put(each.result.attempt(), ResultFate.ACCEPTED));
          open.removeIf(each -> each.givenAfter == enough);
        }
      }
    }
    return fates;
  }
}
