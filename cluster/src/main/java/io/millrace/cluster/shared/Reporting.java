package io.millrace.cluster.shared;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.report.Report;
import io.millrace.cluster.report.Reports;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one member has to report under one name. Of reports that come faster than they may be
 * written only the newest is; it is tried again until it is. Any thread reports; one at a time
 * drives {@link #step}, as long as there is something to write.
 */
final class Reporting {
  /** Between two writes. */
  static final long PAUSE_MILLIS = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Reporting.class);

  private final Station station;
  private final Reports reports;
  private final String name;
  private @Nullable Report newest;
  private long writesMillis;
  private boolean driven;

  Reporting(Station station, String name) {
    this.station = station;
    this.reports = new Reports(station.documents());
    this.name = name;
    this.writesMillis = station.now();
  }

  /**
   * Takes a report.
   *
   * @return whether somebody is to drive this from now on until nothing is left
   * @throws IllegalArgumentException where it says too much
   */
  synchronized boolean offer(String text, Map<String, String> values) {
    SortedMap<String, String> sorted = new TreeMap<>(values);
    newest = new Report(name, station.peer().token(), station.clock().wallMillis(), text, sorted);
    boolean drives = !driven;
    driven = true;
    return drives;
  }

  /**
   * Writes what is to be written where that is due.
   *
   * @return whether something is left to write, or may come so soon that this must be called again
   */
  boolean step() {
    Report report = due();
    if (report == null) {
      return isDriven();
    }
    try {
      reports.write(report);
      settle(report);
    } catch (ClusterException e) {
      LOG.debug("A report of {} could not be written, and will be again", name, e);
    }
    return true;
  }

  /** When to call {@link #step} next, by the monotonic clock. */
  synchronized long nextMillis() {
    return writesMillis;
  }

  private synchronized @Nullable Report due() {
    if (station.now() < writesMillis) {
      return null;
    }
    Report report = newest;
    if (report == null) {
      driven = false;
    } else {
      writesMillis = station.now() + PAUSE_MILLIS;
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
