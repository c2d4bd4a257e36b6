package io.millrace.access;

/**
 * The exceptions of access. An instance of this class itself means that the store failed or has no
 * room. Its subtypes are refusals, after which nothing has changed.
 */
public class AccessException extends RuntimeException {
  /** Has a message that a person can act on. */
  public AccessException(String message) {
    super(message);
  }

  /** The request is invalid. */
  public static final class InvalidAccessException extends AccessException {
    /** Says what is wrong. */
    public InvalidAccessException(String message) {
      super(message);
    }
  }

  /** There is no such principal or key. */
  public static final class UnknownPrincipalException extends AccessException {
    /** Says what is missing. */
    public UnknownPrincipalException(String message) {
      super(message);
    }
  }

  /** There is such a principal already, or it has changed meanwhile. */
  public static final class AccessConflictException extends AccessException {
    /** Says what the conflict is. */
    public AccessConflictException(String message) {
      super(message);
    }
  }
}
