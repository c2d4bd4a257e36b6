package io.millrace.queues.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/**
 * Where a node listens: in its folder, or where that path is too long for a socket, in a folder of
 * this user's for temporary files, under a name that only depends on the node's folder.
 */
final class SocketPath {
  /** What every system takes for the path of a socket, in bytes. */
  private static final int MAX_BYTES = 100;

  /** Nobody but the owner. */
  static final Set<PosixFilePermission> OWNER = PosixFilePermissions.fromString("rwx------");

  private SocketPath() {}

  /** The path for the node of this folder, which nobody else can reach. */
  static Path in(Path folder) throws IOException {
    Path near = folder.toAbsolutePath().normalize().resolve("socket");
    if (near.toString().getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES) {
      return near;
    }
    return fallback(near, Path.of("/tmp"));
  }

  static Path fallback(Path near, Path temporary) throws IOException {
    String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9_-]", "_");
    Path shared = ownFolder(temporary.resolve("millrace-" + user));
    return shared.resolve(digest(near.toString()));
  }

  /** A folder that is ours alone. */
  static Path ownFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER));
    }
    // In a folder that all may write to, somebody else may have been first.
    String owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName();
    if (!owner.equals(Files.getOwner(Path.of(System.getProperty("user.home"))).getName())
        && !owner.equals(System.getProperty("user.name"))) {
      throw new IOException("the folder " + folder + " belongs to " + owner);
    }
    Files.setPosixFilePermissions(folder, OWNER);
    return folder;
  }

  private static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
