package io.millrace.graph;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Long output of commands: while it grows, and in blobs. Holds no more of it than a page. */
final class Recordings {
  /** The bytes of each blob but the last one: 4 MiB, a number of whole pages. */
  static final int CHUNK = 4 << 20;

  private static final int WITH_NEXT = Texts.PAGE + Texts.MOST_FOLLOWING;

  private Recordings() {}

  private static String blob(String name, long chunk) {
    return name + "." + chunk;
  }

  /** The names of all blobs of a recording. */
  static Stream<String> blobs(String name, long size) {
    return LongStream.range(0, (size + CHUNK - 1) / CHUNK).mapToObj(it -> blob(name, it));
  }

  /** What a blob's name begins with, whether it is one of a recording or another. */
  static String family(String blob) {
    int dot = blob.indexOf('.', Upload.PREFIX.length());
    return dot < 0 ? blob : blob.substring(0, dot);
  }

  /** Copies output that has ended into blobs. */
  static void copy(Tail tail, long size, String name, BlobStore blobs) {
    for (long from = 0; from < size; from += CHUNK) {
      long to = Math.min(size, from + CHUNK);
      var _ = blobs.put(blob(name, from / CHUNK), new TailStream(tail, from, to));
    }
  }

  /** A page of output that may still grow. */
  static DataPage page(Tail tail, String view, int slot) {
    long offset = (long) slot * Texts.PAGE;
    byte[] bytes = tail.size() <= offset ? new byte[0] : tail.read(offset, WITH_NEXT);
    return page(bytes, view, slot, true);
  }

  /** A page of output that was stored. */
  static DataPage page(BlobStore blobs, StoredValue.Recording recording, int slot) {
    long offset = (long) slot * Texts.PAGE;
    return page(read(blobs, recording, offset, WITH_NEXT), recording.view(), slot, false);
  }

  private static DataPage page(byte[] bytes, String view, int slot, boolean growing) {
    String text = Texts.page(bytes, slot == 0, !growing);
    Integer next = bytes.length > Texts.PAGE ? slot + 1 : null;
    return new DataPage(Json.text(text), view, slot, next, growing);
  }

  /** Bytes of a stored recording; less than {@code most} only at its end. */
  static byte[] read(BlobStore blobs, StoredValue.Recording recording, long from, int most) {
    ByteArrayOutputStream found = new ByteArrayOutputStream();
    long to = Math.min(recording.size(), from + most);
    long at = from;
    while (at < to) {
      try (BlobStream stream = blobs.open(blob(recording.name(), at / CHUNK), at % CHUNK)) {
        byte[] part = stream.readNBytes((int) Math.min(to - at, CHUNK - at % CHUNK));
        if (part.length == 0) {
          throw new BlobException("output " + recording.name() + " ends early, at byte " + at);
        }
        found.writeBytes(part);
        at += part.length;
      } catch (NoSuchBlobException e) {
        throw new StaleViewException("the output was replaced meanwhile: " + e.getMessage());
      } catch (IOException e) {
        throw new BlobException("output " + recording.name() + " cannot be read: " + e, e);
      }
    }
    return found.toByteArray();
  }

  /** A part of some output, read as it is asked for. */
  private static final class TailStream extends InputStream {
    private final Tail tail;
    private final long to;
    private long at;

    TailStream(Tail tail, long from, long to) {
      this.tail = tail;
      this.at = from;
      this.to = to;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      Objects.checkFromIndexSize(offset, length, target.length);
      if (length == 0) {
        return 0;
      }
      int most = (int) Math.min(length, to - at);
      byte[] part = most == 0 ? new byte[0] : tail.read(at, most);
      System.arraycopy(part, 0, target, offset, part.length);
      at += part.length;
      return part.length == 0 ? -1 : part.length;
    }
  }
}
