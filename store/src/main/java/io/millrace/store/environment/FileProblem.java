package io.millrace.store.environment;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/** Says in words what went wrong with a file. The messages of many exceptions are only its path. */
public final class FileProblem {
  private FileProblem() {}

  /** Why a file whose name the caller says could not be used. */
  public static String reason(Exception e) {
    String known = known(e);
    if (known != null) {
      return known;
    }
    return e.getMessage() == null ? "a file or connection failed" : e.getMessage();
  }

  /** The file, if the exception names it, and why it could not be used. */
  public static String text(IOException e) {
    return e instanceof FileSystemException file && file.getFile() != null && known(e) != null
        ? file.getFile() + ": " + known(e)
        : reason(e);
  }

  private static @Nullable String known(Exception e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file or folder";
      case AccessDeniedException _ -> "this user may not use it";
      case FileAlreadyExistsException _ -> "it exists already";
      case NotDirectoryException _ -> "it is not a folder";
      case DirectoryNotEmptyException _ -> "it is not empty";
      case FileSystemException file -> file.getReason();
      default -> null;
    };
  }
}
