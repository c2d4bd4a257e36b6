package io.millrace.processes;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files and folders that only their owner can use: 0600 and 0700 on a POSIX file system, whatever
 * the umask allows. What exists keeps its permissions.
 */
public final class PrivateFiles {
  private static final FileAttribute<?> FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?> FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private PrivateFiles() {}

  /**
   * Creates a folder and those above it, as far as they do not exist.
   *
   * @throws IOException when it cannot be created, or a file has its name
   */
  public static void createFolder(Path folder) throws IOException {
    Files.createDirectories(folder, FOLDER);
  }

  /**
   * Creates an empty file.
   *
   * @throws FileAlreadyExistsException when there is one already
   * @throws IOException when it cannot be created
   */
  public static void createFile(Path file) throws IOException {
    Files.createFile(file, FILE);
  }

  /**
   * Makes these bytes the content of a file, which is created if it does not exist. While this is
   * under way, and if it fails, the file may have bytes of both contents: it is not emptied first,
   * since some file systems write a file to disk when it is closed after it was emptied.
   *
   * @throws IOException when it cannot be written
   */
  public static void write(Path file, byte[] content) throws IOException {
    Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try (FileChannel channel = FileChannel.open(file, options, FILE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.truncate(content.length);
    }
  }

  /**
   * Opens a file for writing from its start, emptied, or created if it does not exist.
   *
   * @return a stream without a buffer
   * @throws IOException when it cannot be opened
   */
  public static OutputStream newOutputStream(Path file) throws IOException {
    return Channels.newOutputStream(
        FileChannel.open(
            file,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE),
            FILE));
  }
}
