package io.millrace.cli;

import picocli.CommandLine.IVersionProvider;

/** Which version of Millrace this is. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {text()};
  }

  /** As released; {@code development} where the classes do not come from a jar. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return "millrace " + (version == null ? "development" : version);
  }
}
