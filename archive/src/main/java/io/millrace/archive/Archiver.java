package io.millrace.archive;

import io.millrace.archive.ArchiveSource.Due;
import io.millrace.work.Backoff;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves finished work from the store to the archive, in small batches: a batch is inserted into the
 * archive, and then removed from the store. If the archive cannot be reached, nothing is removed,
 * and the next attempt follows after a pause that doubles up to a minute. Step-driven; for use by
 * one thread, its figures by any.
 */
public final class Archiver implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(Archiver.class);

  /** How many items one batch has: few enough not to hold up other commits. */
  static final int BATCH = 200;

  /** How many it has at most while there is more: each batch costs two syncs, whatever its size. */
  static final int MAX_BATCH = 600;

  private static final Duration TRIM_EVERY = Duration.ofMinutes(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final Archive archive;
  private final @Nullable Duration keep;
  private final List<Feed> feeds;
  private final Backoff backoff = new Backoff(Duration.ofSeconds(1), LONGEST_PAUSE);
  private final LongAdder failures = new LongAdder();
  private Instant trimDue = Instant.MIN;
  private volatile @Nullable String problem;

  /** Since when not all that is due has been moved; null if all has. */
  private volatile @Nullable Instant behindSince;

  /** A source with its progress. */
  private static final class Feed {
    private final ArchiveSource source;
    private final LongAdder archived = new LongAdder();
    private boolean recovered;
    private int batch = BATCH;
    private Instant again = Instant.MIN;
    private long lastBatch;

    Feed(ArchiveSource source) {
      this.source = source;
    }
  }

  /**
   * An archiver that has not begun.
   *
   * @param keep how long rows stay in the archive after their items had finished; null for ever
   */
  public Archiver(Archive archive, @Nullable Duration keep, List<ArchiveSource> sources) {
    this.archive = archive;
    this.keep = keep;
    this.feeds = sources.stream().map(Feed::new).toList();
  }

  @Override
  public Instant step(Instant now) {
    try {
      Instant next = Instant.MAX;
      for (Feed feed : feeds) {
        if (!feed.again.isAfter(now)) {
          move(feed, now);
        }
        next = feed.again.isBefore(next) ? feed.again : next;
      }
      if (keep != null && !trimDue.isAfter(now)) {
        trim(now, now.minus(keep).toEpochMilli());
        next = trimDue.isBefore(next) ? trimDue : next;
      }
      if (backoff.succeeded()) {
        LOG.info("the archive can be reached again");
        problem = null;
      }
      behindSince = next.isAfter(now) ? null : behindSince(now);
      return next;
    } catch (ArchiveException e) {
      return failed(now, e);
    }
  }

  private Instant failed(Instant now, ArchiveException e) {
    if (archive.isClosed()) {
      return FINISHED;
    }
    failures.increment();
    behindSince = behindSince(now);
    problem = String.valueOf(e.getMessage());
    if (backoff.hasFailed()) {
      LOG.debug("the archive still fails", e);
    } else {
      LOG.warn("finished work stays in the store, since {}", e.getMessage());
    }
    return now.plus(backoff.next());
  }

  private Instant behindSince(Instant now) {
    Instant since = behindSince;
    return since == null ? now : since;
  }

  private void move(Feed feed, Instant now) {
    if (!feed.recovered) {
      recover(feed);
    }
    Due due = feed.source.due(now, feed.batch);
    List<String> ids = new ArrayList<>();
    for (List<ArchiveRow> part : due.parts()) {
      if (ids.isEmpty()) {
        // Greater for each batch, so that the last one can be told from those before.
        feed.lastBatch = Math.max(now.toEpochMilli(), feed.lastBatch + 1);
        feed.recovered = false;
      }
      part.forEach(row -> ids.add(row.id()));
      archive.put(stamped(part, feed.lastBatch));
    }
    if (!ids.isEmpty()) {
      Set<String> kept = feed.source.remove(ids);
      archive.drop(feed.source.table(), kept);
      feed.recovered = true;
      feed.archived.add(ids.size() - kept.size());
    }
    feed.batch = ids.size() < feed.batch ? BATCH : Math.min(MAX_BATCH, 2 * feed.batch);
    feed.again = due.again();
  }

  /** Completes a batch that was inserted while it is unknown what was removed. */
  private void recover(Feed feed) {
    Archive.Batch last = archive.lastBatch(feed.source.table());
    archive.drop(feed.source.table(), feed.source.present(last.ids()));
    feed.lastBatch = Math.max(feed.lastBatch, last.archivedMillis());
    feed.recovered = true;
  }

  private static List<ArchiveRow> stamped(List<ArchiveRow> rows, long millis) {
    List<ArchiveRow> stamped = new ArrayList<>(rows.size());
    for (ArchiveRow row : rows) {
      ArchiveRow.Builder copy = ArchiveRow.of(row.table(), row.id());
      row.values().forEach(copy::put);
      stamped.add(copy.put(ArchiveTable.ARCHIVED, millis).build());
    }
    return stamped;
  }

  private void trim(Instant now, long beforeMillis) {
    boolean more = false;
    for (ArchiveTable table : ArchiveTable.values()) {
      more |= archive.trim(table, beforeMillis);
    }
    trimDue = more ? now : now.plus(TRIM_EVERY);
  }

  /** Why the archive cannot be used now; null if it can. */
  public @Nullable String problem() {
    return problem;
  }

  /** For how long there has been something that is due and not in the archive; zero if all is. */
  public Duration lag(Instant now) {
    Instant since = behindSince;
    return since == null || now.isBefore(since) ? Duration.ZERO : Duration.between(since, now);
  }

  /** How many attempts have failed since the start. */
  public long failures() {
    return failures.sum();
  }

  /** How many items of a table were archived since the start. */
  public long archived(ArchiveTable table) {
    return feeds.stream()
        .filter(feed -> feed.source.table() == table)
        .mapToLong(feed -> feed.archived.sum())
        .sum();
  }
}
