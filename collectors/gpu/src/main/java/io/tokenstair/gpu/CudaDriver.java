package io.tokenstair.gpu;

import static jcuda.driver.JCudaDriver.cuDeviceGet;
import static jcuda.driver.JCudaDriver.cuDeviceGetAttribute;
import static jcuda.driver.JCudaDriver.cuDeviceGetCount;
import static jcuda.driver.JCudaDriver.cuDeviceGetName;
import static jcuda.driver.JCudaDriver.cuDeviceTotalMem;
import static jcuda.driver.JCudaDriver.cuDriverGetVersion;
import static jcuda.driver.JCudaDriver.cuInit;

import io.tokenstair.gpu.GpuState.Device;
import io.tokenstair.gpu.GpuState.Driver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * The only class that knows JCuda. Loading it loads the driver library of the machine; where that fails, every later use of it in
 * the same process fails too, with another error. {@link GpuProbe} therefore uses it in a process of its own.
 */
final class CudaDriver {

    /** What the loader says when the driver library is not on the machine, as opposed to there and broken. */
    private static final String LIBRARY_ABSENT = "libcuda.so.1: cannot open shared object file: No such file";

    private static final Path KERNEL_MODULE_VERSION = Path.of("/sys/module/nvidia/version");
    private static final int NAME_BYTES = 256;

    private CudaDriver() {}

    /** Asks the driver for its devices. Never throws for what the driver or the loader says. */
    static GpuState detect() {
        try {
            JCudaDriver.setExceptionsEnabled(false);
        } catch (UnsatisfiedLinkError | NoClassDefFoundError e) {
            return notLoaded(String.valueOf(e.getMessage()));
        }
        int initialised = cuInit(0);
        Driver driver = driver();
        if (initialised == CUresult.CUDA_ERROR_NO_DEVICE && driver != null) {
            return new GpuState.NoDevice(driver);
        }
        if (initialised != CUresult.CUDA_SUCCESS || driver == null) {
            return unusable("cuInit", initialised, driver);
        }
        return devices(driver);
    }

    private static GpuState devices(Driver driver) {
        int[] count = new int[1];
        int counted = cuDeviceGetCount(count);
        if (counted != CUresult.CUDA_SUCCESS) {
            return unusable("cuDeviceGetCount", counted, driver);
        }
        if (count[0] == 0) {
            return new GpuState.NoDevice(driver);
        }
        List<Device> devices = new ArrayList<>();
        for (int ordinal = 0; ordinal < count[0]; ordinal++) {
            CUdevice device = new CUdevice();
            byte[] name = new byte[NAME_BYTES];
            long[] memoryBytes = new long[1];
            int[] major = new int[1];
            int[] minor = new int[1];
            int answer = firstFailure(
                    cuDeviceGet(device, ordinal),
                    cuDeviceGetName(name, NAME_BYTES, device),
                    cuDeviceTotalMem(memoryBytes, device),
                    cuDeviceGetAttribute(
                            major, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                    cuDeviceGetAttribute(
                            minor, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
            if (answer != CUresult.CUDA_SUCCESS) {
                return unusable("asking device " + ordinal, answer, driver);
            }
            devices.add(new Device(ordinal, text(name), memoryBytes[0], major[0] + "." + minor[0]));
        }
        return new GpuState.Present(driver, devices);
    }

    private static int firstFailure(int... answers) {
        for (int answer : answers) {
            if (answer != CUresult.CUDA_SUCCESS) {
                return answer;
            }
        }
        return CUresult.CUDA_SUCCESS;
    }

    private static @Nullable Driver driver() {
        int[] version = new int[1];
        if (cuDriverGetVersion(version) != CUresult.CUDA_SUCCESS) {
            return null;
        }
        return new Driver(version[0] / 1000 + "." + version[0] % 1000 / 10, kernelModuleVersion());
    }

    private static @Nullable String kernelModuleVersion() {
        try {
            return Files.readString(KERNEL_MODULE_VERSION).strip();
        } catch (IOException e) {
            return null;
        }
    }

    private static GpuState unusable(String call, int code, @Nullable Driver driver) {
        return new GpuState.Unusable(code, call + " answered " + CUresult.stringFor(code) + " (" + code + ")", driver);
    }

    private static GpuState notLoaded(String message) {
        if (message.contains(LIBRARY_ABSENT)) {
            return new GpuState.NoDriver("the library libcuda.so.1 is not installed");
        }
        String reason = message.lines()
                .filter(line -> line.contains("libcuda"))
                .findFirst()
                .or(() -> message.lines().findFirst())
                .orElse("no reason given");
        return new GpuState.Unusable(null, "Cannot load the CUDA driver binding: " + reason.strip(), null);
    }

    private static String text(byte[] zeroTerminated) {
        int length = 0;
        while (length < zeroTerminated.length && zeroTerminated[length] != 0) {
            length++;
        }
        return new String(zeroTerminated, 0, length, StandardCharsets.UTF_8).strip();
    }
}
