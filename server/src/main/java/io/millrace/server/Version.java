package io.millrace.server;

/** The version of the program. */
final class Version {
  private Version() {}

  /** The released version; {@code development} if the classes do not come from a jar. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
