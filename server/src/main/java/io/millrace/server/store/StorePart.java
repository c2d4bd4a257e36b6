package io.millrace.server.store;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.server.metrics.StoreFigures;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreStatus.DiskState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The task store within a server. */
public final class StorePart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(StorePart.class);
  private static final Duration WATCH_EVERY = Duration.ofSeconds(10);

  private final EmbeddedTaskStore store;
  private final int mostOperations;

  /** Whether the log says that the disk has little room; for the thread that watches. */
  private boolean told;

  /**
   * Of a store, which stays the caller's to close.
   *
   * @param mostOperations the most parts of a transaction, and the most tasks that one read names
   */
  public StorePart(EmbeddedTaskStore store, int mostOperations) {
    this.store = store;
    this.mostOperations = mostOperations;
  }

  @Override
  public List<Route> routes() {
    return StoreApi.routes(store, mostOperations);
  }

  @Override
  public void addErrorReplies(ErrorReplies replies) {
    StoreApi.addErrorReplies(replies);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    return StoreFigures.show(store, registry)::refresh;
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("disk-watch", this::watch));
  }

  @Override
  public List<String> warnings() {
    DiskState disk = store.disk();
    List<String> warnings = new ArrayList<>();
    if (disk.shortage() != null) {
      warnings.add("growth is refused as full: " + disk.shortage());
    } else if (isLow(disk)) {
      warnings.add(lowDisk(disk));
    }
    if (disk.snapshotFailure() != null) {
      warnings.add("the last snapshot could not be written: " + disk.snapshotFailure());
    }
    long aheadMillis = store.timeAheadMillis();
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
   */
  private Instant watch(Instant now) {
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
    return now.plus(WATCH_EVERY);
  }
}
