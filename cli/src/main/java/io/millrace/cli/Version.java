package io.millrace.cli;

import picocli.CommandLine.IVersionProvider;

/** Which version of Millrace this is. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {"millrace " + (version == null ? "development" : version)};
  }
}
