package io.millrace.cluster.shared;

import io.millrace.cluster.member.Member;
import io.millrace.cluster.report.Report;
import io.millrace.cluster.report.Reports;
import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells all members, and whoever looks at the cluster, how work goes: the newest report of each
 * member under a name, in the document {@code status/NAME/TOKEN}. A report is written at once, and
 * the next ones once in a second at most; of those in between only the last one is. While it cannot
 * be written it is tried again, as long as the member runs. The leader removes the reports of
 * members that are gone.
 *
 * <p>Safe for use by any number of threads. What is serialized is the name.
 */
public final class StatusReporter implements Serializable {
  @Serial private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(StatusReporter.class);

  private final String name;
  private final transient @Nullable Member member;

  private StatusReporter(String name, @Nullable Member member) {
    this.name = Names.checkPart("status reporter", name);
    this.member = member;
  }

  /**
   * The reporter of a name, for whichever member's work is done where it is used.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters and without {@code /}
   * @throws IllegalArgumentException naming what is wrong with the name
   */
  public static StatusReporter of(String name) {
    return new StatusReporter(name, null);
  }

  /** A reporter for one member, on any of its threads. The member is not serialized. */
  public static StatusReporter of(String name, Member member) {
    return new StatusReporter(name, member);
  }

  /**
   * Reports in words; returns at once.
   *
   * @param text up to 8,192 bytes of UTF-8
   * @throws IllegalArgumentException where it is longer
   * @throws IllegalStateException where this thread does no member's work
   */
  public void report(String text) {
    report(text, Map.of());
  }

  /**
   * Reports named values; returns at once.
   *
   * @param values what {@link String#valueOf(Object)} makes of them is reported; up to 8,192 bytes
   *     of UTF-8 with their names
   * @throws IllegalArgumentException where they are longer, or there are none
   * @throws IllegalStateException where this thread does no member's work
   */
  public void report(Map<String, ?> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("a report has words or values, and there are none");
    }
    Map<String, String> texts = new TreeMap<>();
    values.forEach((key, value) -> texts.put(key, String.valueOf(value)));
    report("", texts);
  }

  private void report(String text, Map<String, String> values) {
    Member reports = here();
    Reporting reporting = Commons.of(reports).reporting(name);
    if (reporting.offer(text, values)) {
      Thread.ofVirtual().name("status-" + name).start(() -> drive(reports, reporting));
    }
  }

  /** Writes what there is to write, once more than in time where the member has ended. */
  private static void drive(Member member, Reporting reporting) {
    try {
      boolean ends = false;
      while (reporting.step() && !ends) {
        ends = member.isClosed();
        long left = reporting.nextMillis() - member.station().now();
        Thread.sleep(Duration.ofMillis(Math.max(left, 0)));
      }
    } catch (InterruptedException e) {
      LOG.debug("A report may not be written", e);
    }
  }

  /**
   * What all members have reported last under this name, by token. It may be a little older than
   * what they have written.
   *
   * @throws IllegalStateException where this thread does no member's work
   */
  public List<Report> reports() {
    return new Reports(here().station().documents()).of(name);
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
}
