package io.millrace.server.security;

import io.millrace.server.ServerException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;

/** The one bearer token of server and clients. Compared in constant time, never printed. */
public final class Token {
  private static final int MOST_BYTES = 4096;

  private final byte[] content;

  private Token(String content) {
    this.content = content.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Reads a token file: the token alone, of visible ASCII characters, with white space around it
   * left out.
   *
   * @throws ServerException when the file cannot be read or holds something else
   */
  public static Token read(Path file) {
    String content;
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new ServerException(
            "the token file " + file + " is longer than " + MOST_BYTES + " bytes");
      }
      content = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw new ServerException("cannot read the token file " + file + ": " + e, e);
    }
    if (content.isEmpty()) {
      throw new ServerException("the token file " + file + " is empty");
    }
    if (!content.chars().allMatch(letter -> letter > ' ' && letter < 0x7f)) {
      throw new ServerException(
          "the token file " + file + " must hold one token of visible ASCII characters");
    }
    return new Token(content);
  }

  /** Whether {@code offered} is this token; takes the same time wherever they differ. */
  boolean is(String offered) {
    return MessageDigest.isEqual(content, offered.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "(a token)";
  }
}
