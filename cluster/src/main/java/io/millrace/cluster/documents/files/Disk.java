package io.millrace.cluster.documents.files;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The elementary operations on files. A process may stop or die between any two of them; tests
 * simulate that by replacing this class. Interrupting the thread does not end an operation.
 */
class Disk {
  /**
   * The names in a folder, in no particular order. Names that are created or removed meanwhile may
   * be included.
   *
   * @throws java.nio.file.NoSuchFileException if there is no such folder
   */
  List<String> names(Path folder) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return names;
  }

  /** Whether there is a file or folder with this path. */
  boolean exists(Path path) throws IOException {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** The content of a file. */
  byte[] read(Path file) throws IOException {
    return Files.readAllBytes(file);
  }

  /** Writes a new file and syncs it. */
  void write(Path file, byte[] content) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(content);
      out.getFD().sync();
    }
  }

  /** Creates a folder that must not exist. */
  void makeFolder(Path folder) throws IOException {
    Files.createDirectory(folder);
  }

  /** Syncs the names in a folder. */
  void sync(Path folder) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
          channel.force(true);
          return;
        } catch (ClosedByInterruptException _) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Gives a file another name (a hard link), atomically.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the name is taken
   * @throws java.nio.file.NoSuchFileException if the file is gone, or the folder of the name
   */
  void link(Path name, Path file) throws IOException {
    Files.createLink(name, file);
  }

  /**
   * Moves a folder atomically. The target must not exist, or be an empty folder.
   *
   * @throws java.nio.file.FileSystemException if the target is a folder that is not empty
   */
  void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Removes a file or an empty folder.
   *
   * @throws java.nio.file.DirectoryNotEmptyException if it is a folder that is not empty
   */
  void remove(Path path) throws IOException {
    Files.delete(path);
  }
}
