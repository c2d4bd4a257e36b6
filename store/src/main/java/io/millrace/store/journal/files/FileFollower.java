package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a journal in files without its lock, while another process may append to it and remove
 * files. Changes nothing.
 */
final class FileFollower {
  private static final int PIECE_BYTES = 1 << 20;

  /** How often a read is begun anew because a file was removed meanwhile. */
  private static final int ATTEMPTS = 10;

  private final Environment environment;
  private final Storage storage;
  private final Journal.Replay replay;

  FileFollower(Environment environment, Storage storage, Journal.Replay replay) {
    this.environment = environment;
    this.storage = storage;
    this.replay = replay;
  }

  /** See {@link Journal#follow}. */
  long follow(long after) throws IOException {
    long from = after;
    for (int attempt = 1; ; attempt++) {
      try {
        return read(from);
      } catch (NoSuchFileException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
        // The leader has removed a file since the folder was listed. Frames may have been
        // delivered.
        from = 0;
      }
    }
  }

  private long read(long after) throws IOException {
    List<String> names = storage.list();
    FileNames.requireComplete(names, storage.describe());
    List<Long> segments = FileNames.numbers(names, FileNames.SEGMENT);
    long first = segments.isEmpty() ? Long.MAX_VALUE : segments.getFirst();
    long delivered = after;
    if (after == 0 || first > after + 1) {
      replay.reset();
      delivered =
          new SnapshotLoad(environment, storage, replay, _ -> {})
              .newest(FileNames.numbers(names, FileNames.SNAPSHOT), first)
              .sequence();
    }
    for (int i = 0; i < segments.size(); i++) {
      long end = i == segments.size() - 1 ? Long.MAX_VALUE : segments.get(i + 1) - 1;
      if (end > delivered) {
        delivered = segment(segments.get(i), end, delivered);
      }
    }
    return delivered;
  }

  /**
   * Delivers the frames of a segment after frame {@code delivered}.
   *
   * @param end the last frame of the segment according to the next one; {@link Long#MAX_VALUE} for
   *     the last segment, which may end with a frame that is being written
   */
  private long segment(long sequence, long end, long delivered) throws IOException {
    try (DiskFile file = storage.read(FileNames.segment(sequence))) {
      Segment segment = new Segment(SegmentHeader.read(file, sequence), file.size());
      FrameScan scan = new FrameScan(file, segment, PIECE_BYTES);
      long last = delivered;
      Chain covered = new Chain(delivered, 0, 0, 0, 0);
      while (scan.chain().sequence() < end) {
        @Nullable Frame frame = scan.next();
        if (frame != null) {
          if (frame.sequence() > last) {
            replay.frame(frame);
            last = frame.sequence();
          }
        } else if (scan.chain().sequence() >= last
            || !scan.skip(covered, Math.min(last + 1, end))) {
          break;
        }
      }
      if (end < Long.MAX_VALUE && last < end) {
        throw new DamagedJournalException(
            segment.name(), scan.offset(), "the frames end after frame " + last);
      }
      return last;
    }
  }
}
