package io.millrace.server.security;

import io.millrace.server.ServerException;
import io.millrace.store.environment.FileProblem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A secret that clients present, as the one bearer token of server and clients. Compared in
 * constant time, never printed.
 */
public final class Token {
  private static final int MAX_BYTES = 4096;
  private static final String SCHEME = "bearer ";

  private final byte[] content;

  private Token(byte[] content) {
    this.content = content;
  }

  /**
   * Reads a token file: the token alone, of visible ASCII characters, with white space around it
   * left out.
   *
   * @throws ServerException when the file cannot be read or holds something else
   */
  public static Token read(Path file) {
    return of(text(file));
  }

  /**
   * The token in a token file, for programs that show it to others.
   *
   * @throws ServerException when the file cannot be read or holds something else
   */
  public static String text(Path file) {
    String content = check(file);
    FilePermissions.warnIfShared("token file", file);
    return content;
  }

  /**
   * The same without a warning if others may use the file.
   *
   * @throws ServerException when the file cannot be read or holds something else
   */
  public static String check(Path file) {
    String content;
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new ServerException(
            "the token file " + file + " is longer than " + MAX_BYTES + " bytes");
      }
      content = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw new ServerException(
          "cannot read the token file " + file + ": " + FileProblem.reason(e), e);
    }
    if (content.isEmpty()) {
      throw new ServerException("the token file " + file + " is empty");
    }
    if (!content.chars().allMatch(letter -> letter > ' ' && letter < 0x7f)) {
      throw new ServerException(
          "the token file " + file + " must hold one token of visible ASCII characters");
    }
    return content;
  }

  /** A token that is given as text: any characters, at least one. */
  public static Token of(String content) {
    return new Token(content.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The token in a header {@code Authorization: Bearer TOKEN}.
   *
   * @param authorization the header; null if there is none
   * @return empty if it holds none
   */
  public static Optional<String> bearer(@Nullable String authorization) {
    return authorization != null
            && authorization.length() > SCHEME.length()
            && authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? Optional.of(authorization.substring(SCHEME.length()).strip())
        : Optional.empty();
  }

  /** Whether {@code offered} is this token; takes the same time wherever they differ. */
  public boolean is(String offered) {
    return MessageDigest.isEqual(content, offered.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "(a token)";
  }
}
