package io.millrace.server;

import io.millrace.server.http.Handler;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.store.DiskState;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Journaling;
import io.millrace.store.Read;
import io.millrace.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tells whether the server can work: 200, with warnings if something is about to run short, or 503
 * when its store has stopped or waits for room on the disk.
 */
final class Health implements Handler {
  private static final Logger LOG = LoggerFactory.getLogger(Health.class);
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration WATCH = Duration.ofSeconds(10);

  private final EmbeddedTaskStore store;
  private final String journaling;

  /** Whether the log says that the disk has little room; for the thread that watches. */
  private boolean told;

  Health(EmbeddedTaskStore store, Journaling journaling) {
    this.store = store;
    this.journaling = journaling.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Reply handle(Request request) {
    DiskState disk = store.disk();
    if (disk.stuck()) {
      // Reads wait as well, so the store is not asked.
      return problem("full", String.valueOf(disk.shortage()));
    }
    try {
      Read<?> read = store.tasks(List.of());
      Map<String, Object> answer = answer("ok");
      answer.put("position", read.position().toString());
      answer.put("time", read.timeMillis());
      long ahead = store.timeAheadMillis();
      answer.put("timeahead", ahead);
      answer.put("warnings", warnings(disk, ahead));
      return Reply.json(JSON.writeValueAsBytes(answer));
    } catch (StoreException e) {
      return problem("stopped", String.valueOf(e.getMessage()));
    }
  }

  private Reply problem(String status, String error) {
    Map<String, Object> answer = answer(status);
    answer.put("error", error);
    return Reply.json(503, JSON.writeValueAsBytes(answer));
  }

  private Map<String, Object> answer(String status) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("status", status);
    answer.put("version", Version.text());
    answer.put("journaling", journaling);
    return answer;
  }

  private static List<String> warnings(DiskState disk, long aheadMillis) {
    List<String> warnings = new ArrayList<>();
    if (disk.shortage() != null) {
      warnings.add("growth is refused as full: " + disk.shortage());
    } else if (isLow(disk)) {
      warnings.add(lowDisk(disk));
    }
    if (disk.snapshotFailure() != null) {
      warnings.add("the last snapshot could not be written: " + disk.snapshotFailure());
    }
    if (Math.abs(aheadMillis) > EmbeddedTaskStore.TIME_MARGIN.toMillis()) {
      warnings.add(
          "store time is %s %s the wall clock: absolute times come that much too %s"
              .formatted(
                  Duration.ofMillis(Math.abs(aheadMillis)),
                  aheadMillis > 0 ? "ahead of" : "behind",
                  aheadMillis > 0 ? "early" : "late"));
    }
    return warnings;
  }

  private static boolean isLow(DiskState disk) {
    return disk.freeBytes() < disk.reserveBytes();
  }

  private static String lowDisk(DiskState disk) {
    return "the disk of the store has %d bytes free, less than store.disk-reserve-bytes (%d): growth will be refused once the segments at hand are full"
        .formatted(disk.freeBytes(), disk.reserveBytes());
  }

  /**
   * Warns once in the log when the disk has less room than is to be left free, while the journal
   * itself still has what it needs. For one thread.
   *
   * @return the milliseconds until the next look
   */
  Instant watch(Instant now) {
    DiskState disk = store.disk();
    boolean low = isLow(disk);
    if (low != told) {
      told = low;
      if (low && disk.shortage() == null) {
        LOG.warn(lowDisk(disk));
      } else if (!low) {
        LOG.info("the disk of the store has {} bytes free again", disk.freeBytes());
      }
    }
    return now.plus(WATCH);
  }
}
