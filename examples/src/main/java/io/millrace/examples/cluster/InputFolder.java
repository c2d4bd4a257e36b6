package io.millrace.examples.cluster;

import io.millrace.store.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A folder that members read. Only regular files directly in it count.
 *
 * @param path its path, the same for all members
 */
record InputFolder(Path path) {
  /** The names of its files, sorted. */
  List<String> names() {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> String.valueOf(file.getFileName()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The SHA-256 of a file in hexadecimal digits; empty if it is gone. */
  Optional<String> hash(String name) throws IOException {
    try (InputStream bytes = Files.newInputStream(path.resolve(name));
        DigestOutputStream digest =
            new DigestOutputStream(OutputStream.nullOutputStream(), Sha256.begin())) {
      bytes.transferTo(digest);
      return Optional.of(HexFormat.of().formatHex(digest.getMessageDigest().digest()));
    } catch (NoSuchFileException _) {
      return Optional.empty();
    }
  }
}
