package io.millrace.examples.cluster;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Follows a growing file, and copies its lines to a {@link FeedFile}. A document stores the offset.
 * It is updated after the lines are in the output, so it may be behind, but never ahead: the next
 * follower may copy some lines again, and the output leaves them out. A line is copied when it is
 * complete; a line longer than 1 MiB is split. Used by one thread.
 */
final class FileFollower {
  private static final Logger LOG = LoggerFactory.getLogger(FileFollower.class);
  private static final int MAX_BYTES = 1 << 20;

  private final VersionedDocuments documents;
  private final Path file;
  private final String name;
  private final FeedFile output;
  private @Nullable Offset bookmark;

  /**
   * Creates a follower that starts at the stored offset.
   *
   * @param file the file, which need not exist yet
   */
  FileFollower(VersionedDocuments documents, Path file, FeedFile output) {
    this.documents = documents;
    this.file = file;
    this.name = String.valueOf(file.getFileName());
    this.output = output;
  }

  /**
   * Copies new lines, up to 1 MiB.
   *
   * @param guard proof that no other member follows the file
   * @param token the token of this member
   * @return whether there were new lines
   * @throws LineFile.StaleFenceException if a member with a larger fence has followed the file
   *     meanwhile
   */
  boolean step(Guard guard, String token) throws IOException {
    Offset from = bookmark;
    if (from == null) {
      from = Offset.read(documents, name);
      bookmark = from;
    }
    ByteBuffer bytes = read(from.offset());
    List<FeedFile.Line> lines = new ArrayList<>();
    int begin = 0;
    for (int i = 0; i < bytes.limit(); i++) {
      boolean full = begin == 0 && i + 1 == MAX_BYTES;
      if (bytes.get(i) == '\n' || full) {
        int length = bytes.get(i) == '\n' ? i - begin : i + 1 - begin;
        String line = StandardCharsets.UTF_8.decode(bytes.slice(begin, length)).toString();
        lines.add(new FeedFile.Line(name, from.offset() + begin, line, token, guard.fence()));
        begin = i + 1;
      }
    }
    if (lines.isEmpty()) {
      return false;
    }
    guard.check();
    output.append(lines);
    moveOn(from, from.offset() + begin);
    return true;
  }

  private ByteBuffer read(long offset) throws IOException {
    try {
      if (Files.size(file) <= offset) {
        return ByteBuffer.allocate(0);
      }
    } catch (NoSuchFileException e) {
      LOG.trace("{} does not exist", file, e);
      return ByteBuffer.allocate(0);
    }
    try (FileChannel channel = FileChannel.open(file)) {
      long max = Math.min(MAX_BYTES, channel.size() - offset);
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.max(max, 0));
      while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) >= 0) {
        // Reads on.
      }
      return bytes.flip();
    }
  }

  /**
   * Stores the offset. If another member has changed it, or the outcome is unknown, the next step
   * reads it again.
   */
  private void moveOn(Offset from, long offset) {
    bookmark = null;
    try {
      bookmark = from.moved(documents, offset).orElse(null);
    } catch (UnclearOutcomeException e) {
      LOG.debug("The offset of {} may not have been written; it is read again", file, e);
    }
  }

  /**
   * The offset of a file: the document {@code offset/NAME}, with NAME in base64url, and {@code
   * {"file": NAME, "offset": N}} in it.
   *
   * @param file the file's name
   * @param version the version of the document
   * @param offset the offset of the first byte that was not copied
   */
  record Offset(String file, Version version, long offset) {
    private static final String PREFIX = "offset/";
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /** The offset of a file; 0 if there is none. */
    static Offset read(VersionedDocuments documents, String file) {
      Optional<VersionedDocument> document = documents.get(key(file));
      return document
          .map(found -> new Offset(file, found.version(), offset(found)))
          .orElseGet(() -> new Offset(file, Version.NONE, 0));
    }

    /** Stores another offset; empty if the document has another version. */
    Optional<Offset> moved(VersionedDocuments documents, long to) {
      String json =
          MAPPER.writeValueAsString(MAPPER.createObjectNode().put("file", file).put("offset", to));
      return documents.put(key(file), version, json).map(now -> new Offset(file, now, to));
    }

    private static long offset(VersionedDocument document) {
      try {
        return Math.max(0, MAPPER.readTree(document.json()).path("offset").asLong(0));
      } catch (JacksonException e) {
        throw new ClusterException(
            "document " + document.key() + " is damaged: " + e.getOriginalMessage(), e);
      }
    }

    /** Encoded, because names of files may contain characters that keys must not contain. */
    private static String key(String file) {
      byte[] bytes = file.getBytes(StandardCharsets.UTF_8);
      return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
  }
}
