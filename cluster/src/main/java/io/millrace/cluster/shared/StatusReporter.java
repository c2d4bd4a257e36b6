package io.millrace.cluster.shared;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Report;
import io.millrace.work.Step;
import io.millrace.work.StepLoop;
import java.io.Serial;
import java.io.Serializable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes each member's latest report about its work under a name, in the document {@code
 * status/NAME/TOKEN}. The first report is written at once. Later ones are written at most once a
 * second, and only the newest of them. A failed write is retried as long as the member runs. The
 * leader removes the reports of members that are gone.
 *
 * <p>Thread-safe. Only the name is serialized.
 */
public final class StatusReporter implements Serializable {
  @Serial private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(StatusReporter.class);

  private final String name;
  private final transient @Nullable Member member;

  private StatusReporter(String name, @Nullable Member member) {
    this.name = SharedState.checkNamePart("status reporter", name);
    this.member = member;
  }

  /**
   * Returns the reporter with this name, for the member whose work uses it.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters and without {@code /}
   * @throws IllegalArgumentException naming what is wrong with the name
   */
  public static StatusReporter of(String name) {
    return new StatusReporter(name, null);
  }

  /** Returns the reporter for one member, on any of its threads. The member is not serialized. */
  public static StatusReporter of(String name, Member member) {
    return new StatusReporter(name, member);
  }

  /**
   * Reports a text; returns at once.
   *
   * @param text up to 8,192 bytes of UTF-8
   * @throws IllegalArgumentException if it is longer
   * @throws IllegalStateException if this thread does not run work of a member
   */
  public void report(String text) {
    report(text, Map.of());
  }

  /**
   * Reports named values; returns at once.
   *
   * @param values converted with {@link String#valueOf(Object)}; up to 8,192 bytes of UTF-8
   *     including the names
   * @throws IllegalArgumentException if they are longer, or there are none
   * @throws IllegalStateException if this thread does not run work of a member
   */
  public void report(Map<String, ?> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("a report needs a text or values");
    }
    Map<String, String> texts = new TreeMap<>();
    values.forEach((key, value) -> texts.put(key, String.valueOf(value)));
    report("", texts);
  }

  private void report(String text, Map<String, String> values) {
    Member reports = here();
    Writer writer = SharedState.of(reports).reporter(name);
    if (writer.offer(text, values)) {
      InstantSource clock = () -> Instant.ofEpochMilli(reports.context().now());
      StepLoop.start("status-" + name, clock, _ -> drive(reports, writer));
    }
  }

  /** Writes reports until there are none left, and one last time if the member is closed. */
  private static Instant drive(Member member, Writer writer) {
    boolean last = member.isClosed();
    return writer.step() && !last ? Instant.ofEpochMilli(writer.nextMillis()) : Step.FINISHED;
  }

  /**
   * The latest reports of all members under this name, by token. The listing may be slightly stale.
   *
   * @throws IllegalStateException if this thread does not run work of a member
   */
  public List<Report> reports() {
    return Report.of(name, here().context().documents());
  }

  private Member here() {
    return member == null ? Member.current() : member;
  }

  @Serial
  private Object readResolve() {
    return of(name);
  }

  @Override
  public String toString() {
    return "status reporter '" + name + "'";
  }

  /**
   * Writes the newest report of one member under one name, at most one a second, and tries again if
   * that fails. Any thread may report. One thread at a time calls {@link #step}, as long as there
   * is something to write.
   */
  static final class Writer {
    /** The minimum time between two writes. */
    static final long PAUSE_MILLIS = 1000;

    private final MemberContext context;
    private final String name;
    private @Nullable Report newest;
    private long writesMillis;
    private boolean driven;

    Writer(MemberContext context, String name) {
      this.context = context;
      this.name = name;
      this.writesMillis = context.now();
    }

    /**
     * Adds a report.
     *
     * @return whether the caller must call {@link #step} from now on until it returns false
     * @throws IllegalArgumentException if the report is too large
     */
    synchronized boolean offer(String text, Map<String, String> values) {
      SortedMap<String, String> sorted = new TreeMap<>(values);
      newest = new Report(name, context.token(), context.clock().wallMillis(), text, sorted);
      boolean drives = !driven;
      driven = true;
      return drives;
    }

    /**
     * Writes the newest report if that is due.
     *
     * @return whether this must be called again, because a report is left to write or may follow
     *     soon
     */
    boolean step() {
      Report report = due();
      if (report == null) {
        return isDriven();
      }
      try {
        report.write(context.documents());
        settle(report);
      } catch (ClusterException e) {
        LOG.debug("A report of {} could not be written; retrying", name, e);
      }
      return true;
    }

    /** When to call {@link #step} next, by the monotonic clock. */
    synchronized long nextMillis() {
      return writesMillis;
    }

    private synchronized @Nullable Report due() {
      if (context.now() < writesMillis) {
        return null;
      }
      Report report = newest;
      if (report == null) {
        driven = false;
      } else {
        writesMillis = context.now() + PAUSE_MILLIS;
      }
      return report;
    }

    private synchronized void settle(Report written) {
      if (written.equals(newest)) {
        newest = null;
      }
    }

    private synchronized boolean isDriven() {
      return driven;
    }
  }
}
