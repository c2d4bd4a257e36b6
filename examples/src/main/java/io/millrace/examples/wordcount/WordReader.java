package io.millrace.examples.wordcount;

import io.millrace.store.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Counts the words of a chunk of a file. Words are runs of ASCII letters and are counted in lower
 * case; any other byte is a separator. Memory use does not depend on the length of words.
 */
final class WordReader {
  /** Longer words are counted by their digests, and read from the file to be shown. */
  static final int LONGEST_KEPT = 1024;

  private static final int BUFFER_BYTES = 256 << 10;

  private final WordTasks.Chunk chunk;
  private final Counts counts = new Counts();
  private final byte[] word = new byte[LONGEST_KEPT];
  private final MessageDigest digest = Sha256.begin();
  private long length;

  private WordReader(WordTasks.Chunk chunk) {
    this.chunk = chunk;
  }

  static boolean isLetter(byte b) {
    int lower = b | 0x20;
    return lower >= 'a' && lower <= 'z';
  }

  /** Counts the words of one chunk. */
  static Counts count(WordTasks.Chunk chunk) throws IOException {
    WordReader reader = new WordReader(chunk);
    reader.read();
    return reader.counts;
  }

  private void read() throws IOException {
    try (FileChannel channel = FileChannel.open(chunk.file())) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
      long at = chunk.offset();
      long end = chunk.offset() + chunk.length();
      while (at < end) {
        buffer.clear().limit((int) Math.min(BUFFER_BYTES, end - at));
        int read = channel.read(buffer, at);
        if (read < 0) {
          throw new IOException(chunk.file() + " became shorter while it was read");
        }
        for (int i = 0; i < read; i++) {
          take(buffer.get(i), at + i);
        }
        at += read;
      }
      endWord(end);
    }
  }

  private void take(byte b, long at) {
    if (!isLetter(b)) {
      endWord(at);
      return;
    }
    byte lower = (byte) (b | 0x20);
    if (length < LONGEST_KEPT) {
      word[(int) length] = lower;
    } else {
      if (length == LONGEST_KEPT) {
        digest.update(word);
      }
      digest.update(lower);
    }
    length++;
  }

  private void endWord(long end) {
    if (length == 0) {
      return;
    }
    if (length <= LONGEST_KEPT) {
      counts.add(new String(word, 0, (int) length, StandardCharsets.US_ASCII), 1);
    } else {
      String key = Counts.LONG + HexFormat.of().formatHex(digest.digest());
      counts.add(key, 1);
      counts.place(key, new Counts.Place(end - length, length));
    }
    length = 0;
  }
}
