package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Blobs in the tables of a database, in chunks of 1 MiB, of which a put and a stream have one in
 * memory. For sites that have a database and no bucket, and payloads of some megabytes: every byte
 * passes through the database and its log.
 *
 * <p>A content gets its name when all of it is there, and never changes. If the name goes, the
 * content stays for an hour, so that streams that are open can be read to their end; then {@link
 * #removeLeftovers} removes it, as it does with contents of puts that did not end. A stream that is
 * read for longer than that fails.
 */
public final class DatabaseBlobStore implements BlobStore {
  /** How long a content stays that has no name any more. */
  static final Duration KEPT_FOR_READERS = Duration.ofHours(1);

  private static final Duration ABANDONED_AFTER = Duration.ofHours(24);
  private static final int NAMES_AT_ONCE = 1_000;

  /** Up to this size, a put needs no buffer of a whole chunk. */
  private static final int SMALL = 16 << 10;

  private final BlobTables tables;
  private final InstantSource clock;

  /**
   * Opens a store; nothing is asked of the database yet.
   *
   * @param tables closed with the store
   * @param clock close to those of other processes that use the same tables
   */
  public DatabaseBlobStore(BlobTables tables, InstantSource clock) {
    this.tables = tables;
    this.clock = clock;
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    BlobName.check(name);
    BlobContent source = new BlobContent(content);
    String id = UUID.randomUUID().toString();
    try {
      byte[] chunk = source.readNBytes(SMALL);
      int length = chunk.length;
      if (length == SMALL) {
        chunk = Arrays.copyOf(chunk, tables.chunkBytes());
        length += source.readNBytes(chunk, SMALL, chunk.length - SMALL);
      }
      long size = 0;
      int number = 0;
      while (length == tables.chunkBytes()) {
        // Whether it is the last one is known only when the source ends.
        tables.append(id, number, chunk, length, clock.instant());
        size += length;
        number = Math.incrementExact(number);
        length = source.readNBytes(chunk, 0, chunk.length);
      }
      tables.complete(
          name, new BlobTables.Content(id, size + length), number, chunk, length, clock.instant());
      return source.receipt(name);
    } catch (IOException e) {
      throw new BlobException("blob " + name + ", its content could not be read: " + e, e);
    }
  }

  @Override
  public boolean link(String from, String to) {
    BlobName.check(from);
    BlobName.check(to);
    if (!tables.link(from, to, clock.instant())) {
      throw new NoSuchBlobException(from);
    }
    return true;
  }

  @Override
  public BlobStream open(String name, long offset) {
    BlobName.check(name);
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
    BlobTables.Content content = tables.find(name).orElseThrow(() -> new NoSuchBlobException(name));
    return new BlobStream(new Chunks(name, content, offset), content.size());
  }

  @Override
  public OptionalLong size(String name) {
    BlobName.check(name);
    Optional<BlobTables.Content> content = tables.find(name);
    return content.isPresent() ? OptionalLong.of(content.get().size()) : OptionalLong.empty();
  }

  @Override
  public boolean delete(String name) {
    BlobName.check(name);
    return tables.delete(name, clock.instant());
  }

  @Override
  public Stream<Blob> list(String prefix) {
    BlobName.checkPrefix(prefix);
    return Stream.<@Nullable List<Blob>>iterate(
            tables.list(prefix, "", NAMES_AT_ONCE),
            Objects::nonNull,
            page ->
                page == null || page.size() < NAMES_AT_ONCE
                    ? null
                    : tables.list(prefix, page.getLast().name(), NAMES_AT_ONCE))
        .flatMap(page -> page == null ? Stream.empty() : page.stream());
  }

  @Override
  public void removeLeftovers(Instant now) {
    boolean more = true;
    while (more) {
      more = tables.remove(now.minus(KEPT_FOR_READERS), now.minus(ABANDONED_AFTER));
    }
  }

  @Override
  public void close() {
    tables.close();
  }

  /** The bytes of a content from an offset on, one chunk after the other. */
  private final class Chunks extends InputStream {
    private final String name;
    private final BlobTables.Content content;
    private long at;
    private byte @Nullable [] chunk;

    Chunks(String name, BlobTables.Content content, long offset) {
      this.name = name;
      this.content = content;
      this.at = offset;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, target.length);
      if (length == 0) {
        return 0;
      }
      if (at >= content.size()) {
        return -1;
      }
      int begin = (int) (at % tables.chunkBytes());
      byte[] current = chunk;
      if (current == null || begin == 0) {
        current = load(Math.toIntExact(at / tables.chunkBytes()));
        chunk = current;
      }
      int count = Math.min(length, current.length - begin);
      System.arraycopy(current, begin, target, offset, count);
      at += count;
      return count;
    }

    private byte[] load(int number) throws IOException {
      byte[] found;
      try {
        found = tables.chunk(content.id(), number);
      } catch (BlobException e) {
        throw new IOException("blob " + name + " cannot be read: " + e.getMessage(), e);
      }
      if (found == null) {
        throw new IOException(
            "blob %s was replaced or deleted while it was read, at byte %d of %d"
                .formatted(name, at, content.size()));
      }
      long expected =
          Math.min(tables.chunkBytes(), content.size() - (long) number * tables.chunkBytes());
      if (found.length != expected) {
        throw new IOException(
            "blob %s is damaged: its chunk %d has %d bytes instead of %d"
                .formatted(name, number, found.length, expected));
      }
      return found;
    }
  }
}
