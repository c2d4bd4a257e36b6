package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the log in a bucket: frames, and the head of the journal after them.
 * docs/journal-format.md describes its bytes, and those of the small objects beside the log.
 *
 * @param number its number
 * @param head the head, without what {@link Lease} and {@link Boundary} say
 * @param challenge whether it asks the leader for a sign of life, which is another entry
 * @param frames how many frames it has
 * @param bytes its bytes in an array of their own, never moved
 */
record BucketEntry(long number, Head head, boolean challenge, int frames, ByteBuffer bytes) {
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 144;
  private static final int FLAGS_AT = 132;
  private static final int CHECKSUM_BYTES = 4;
  private static final int RESIGNED = 1;
  private static final int CHALLENGE = 2;

  /** The entry that begins the log of a new store. */
  static BucketEntry first(long journalId) {
    return of(1, Head.first(journalId), false, List.of());
  }

  /**
   * The entry after this one.
   *
   * @param next the head after its frames
   */
  BucketEntry next(Head next, List<Row> rows) {
    return of(number + 1, next, false, rows);
  }

  /** The entry after this one, with which a standby asks for a sign; it is none of the leader. */
  BucketEntry nextChallenge() {
    return of(number + 1, signed(false), true, List.of());
  }

  /** The head with one more sign of life. */
  Head signed(boolean resigned) {
    return head.withSigns(head.renewals() + 1, resigned, null);
  }

  private static BucketEntry of(long number, Head head, boolean challenge, List<Row> rows) {
    int size = HEADER_BYTES;
    for (Row row : rows) {
      size += row.frame().remaining();
    }
    byte[] content = new byte[size];
    ByteBuffer bytes = begin(Kind.ENTRY, content);
    bytes.putLong(number).putLong(head.journalId());
    bytes.putLong(head.chain().sequence()).putInt(head.chain().checksum());
    bytes.putLong(head.chain().epoch()).putLong(head.chain().position());
    bytes.putLong(head.chain().timeMillis()).putLong(head.writer()).putLong(head.totalBytes());
    bytes.putLong(head.first()).putLong(head.firstPosition());
    bytes.putLong(head.snapshot().sequence()).putLong(head.snapshot().upload());
    bytes.putLong(head.older().sequence()).putLong(head.older().upload());
    bytes
        .putLong(head.renewals())
        .putInt((head.resigned() ? RESIGNED : 0) | (challenge ? CHALLENGE : 0))
        .putInt(rows.size());
    seal(content, HEADER_BYTES);
    bytes.position(HEADER_BYTES);
    rows.forEach(row -> bytes.put(row.frame().duplicate()));
    return new BucketEntry(number, head, challenge, rows.size(), ByteBuffer.wrap(content));
  }

  /**
   * Reads an entry. Its frames are not checked.
   *
   * @throws DamagedJournalException if it is damaged, or another one
   */
  static BucketEntry read(String key, long number, byte[] content) {
    ByteBuffer bytes = open(Kind.ENTRY, key, content, HEADER_BYTES);
    if (bytes.getLong() != number) {
      throw new DamagedJournalException(key, 0, "it is another object of the log");
    }
    long journalId = bytes.getLong();
    long sequence = bytes.getLong();
    int checksum = bytes.getInt();
    Chain chain = new Chain(sequence, checksum, bytes.getLong(), bytes.getLong(), bytes.getLong());
    int flags = bytes.getInt(FLAGS_AT);
    Head head =
        new Head(
            journalId,
            chain,
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            new Snapshot(bytes.getLong(), bytes.getLong()),
            new Snapshot(bytes.getLong(), bytes.getLong()),
            bytes.getLong(),
            (flags & RESIGNED) != 0,
            null);
    return new BucketEntry(
        number,
        head,
        (flags & CHALLENGE) != 0,
        bytes.getInt(FLAGS_AT + 4),
        ByteBuffer.wrap(content));
  }

  /** A copy of its bytes. */
  byte[] content() {
    byte[] content = new byte[bytes.capacity()];
    bytes.get(0, content);
    return content;
  }

  /** The last frame of it, or of an entry before; 0 for none. */
  long end() {
    return head.chain().sequence();
  }

  /**
   * The frames.
   *
   * @throws DamagedJournalException if they are not what the entry says
   */
  List<Row> rows(String key) {
    List<Row> rows = new ArrayList<>();
    long total = head.totalBytes() - (bytes.capacity() - HEADER_BYTES);
    int at = HEADER_BYTES;
    for (int i = 0; i < frames; i++) {
      if (bytes.capacity() - at < FrameCodec.HEADER_BYTES
          || !FrameCodec.isHeader(bytes, at, head.journalId())
          || FrameCodec.sizeBytes(FrameCodec.payloadBytes(bytes, at)) > bytes.capacity() - at) {
        throw new DamagedJournalException(key, at, "no complete frame");
      }
      int size = Math.toIntExact(FrameCodec.sizeBytes(FrameCodec.payloadBytes(bytes, at)));
      Frame frame = FrameCodec.decode(bytes, at);
      total += size;
      byte[] own = new byte[size];
      bytes.get(at, own);
      rows.add(new Row(frame.sequence(), frame.position(), frame.timeMillis(), total, own));
      at += size;
    }
    if (at != bytes.capacity()) {
      throw new DamagedJournalException(key, at, "more than its frames");
    }
    return rows;
  }

  /** The objects. */
  private enum Kind {
    ENTRY(0x4d524c47), // MRLG
    BOUNDARY(0x4d524244), // MRBD
    LEASE(0x4d524c53); // MRLS

    private final int magic;

    Kind(int magic) {
      this.magic = magic;
    }
  }

  /** Writes what an object begins with. */
  private static ByteBuffer begin(Kind kind, byte[] content) {
    return ByteBuffer.wrap(content).putInt(kind.magic).putInt(VERSION);
  }

  /** Ends the first {@code size} bytes with the checksum of those before. */
  private static void seal(byte[] content, int size) {
    ByteBuffer.wrap(content).putInt(size - CHECKSUM_BYTES, checksum(content, size));
  }

  private static int checksum(byte[] content, int size) {
    CRC32C checksum = new CRC32C();
    checksum.update(content, 0, size - CHECKSUM_BYTES);
    return (int) checksum.getValue();
  }

  /** The bytes of an object, whose first {@code size} end with a checksum, after its version. */
  private static ByteBuffer open(Kind kind, String key, byte[] content, int size) {
    ByteBuffer bytes = ByteBuffer.wrap(content);
    if (content.length < size || bytes.getInt() != kind.magic) {
      throw new DamagedJournalException(key, 0, "it is not an object of a journal");
    }
    int version = bytes.getInt();
    if (version != VERSION) {
      throw new DamagedJournalException(
          key, 0, "it has version %d, and this program knows %d".formatted(version, VERSION));
    }
    if (bytes.getInt(size - CHECKSUM_BYTES) != checksum(content, size)) {
      throw new DamagedJournalException(key, 0, "its checksum is wrong");
    }
    return bytes;
  }

  /**
   * Which entries are kept.
   *
   * @param number how often the boundary has moved
   * @param entry the first entry that is kept
   * @param journalId the journal of the rest
   * @param first the first frame that is kept
   * @param firstPosition the number of commits before it
   */
  record Boundary(long number, long entry, long journalId, long first, long firstPosition) {
    private static final int BYTES = 52;

    /** Before it has moved. */
    static final Boundary NONE = new Boundary(0, 1, 0, 1, 0);

    byte[] content() {
      byte[] content = new byte[BYTES];
      ByteBuffer bytes = begin(Kind.BOUNDARY, content);
      bytes.putLong(number).putLong(entry).putLong(journalId).putLong(first).putLong(firstPosition);
      seal(content, BYTES);
      return content;
    }

    static Boundary read(String key, byte[] content) {
      ByteBuffer bytes = open(Kind.BOUNDARY, key, content, BYTES);
      return new Boundary(
          bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }
  }

  /**
   * A sign of life. It is a hint: what keeps the lease is the log.
   *
   * @param epoch that of the leader
   * @param sign changes with each renewal
   * @param address where clients reach it; null if it has announced nothing
   */
  record Lease(long epoch, long sign, @Nullable String address) {
    /** Before anybody has led. */
    static final Lease NONE = new Lease(0, 0, null);

    private static final int ADDRESS_AT = 28;

    byte[] content() {
      byte[] text = (address == null ? "" : address).getBytes(StandardCharsets.UTF_8);
      byte[] content = new byte[ADDRESS_AT + text.length + CHECKSUM_BYTES];
      begin(Kind.LEASE, content).putLong(epoch).putLong(sign).putInt(text.length).put(text);
      seal(content, content.length);
      return content;
    }

    static Lease read(String key, byte[] content) {
      ByteBuffer bytes =
          open(Kind.LEASE, key, content, Math.max(ADDRESS_AT + CHECKSUM_BYTES, content.length));
      long epoch = bytes.getLong();
      long sign = bytes.getLong();
      byte[] text = new byte[bytes.getInt()];
      bytes.get(text);
      return new Lease(
          epoch, sign, text.length == 0 ? null : new String(text, StandardCharsets.UTF_8));
    }
  }
}
