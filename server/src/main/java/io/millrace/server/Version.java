package io.millrace.server;

/** Which version of the program this is. */
final class Version {
  private Version() {}

  /** As released; {@code development} if the classes do not come from a jar. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
